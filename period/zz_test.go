package period_test
import ("testing";"os";"encoding/json";"time";"github.com/bursar-dev/bursar/period")
func TestZZOracle(t *testing.T){
 data,err:=os.ReadFile("/tmp/advp/cases.json"); if err!=nil{t.Skip()}
 var cs []struct{Kind period.Kind; Zone string; Opt caseOptions; Now int64; NS int64; Start,End int64}
 if err:=json.Unmarshal(data,&cs);err!=nil{t.Fatal(err)}
 bad:=0
 for _,c:=range cs{
  p,err:=period.Compile(c.Opt.spec(c.Kind,c.Zone)); if err!=nil{t.Error(err);continue}
  w,err:=p.At(time.Unix(c.Now,c.NS))
  if err!=nil||w.Start.Unix()!=c.Start||w.End.Unix()!=c.End {bad++; if bad<20{t.Errorf("%s at %s: got %v %v want %s %s",p,time.Unix(c.Now,c.NS).UTC(),w,err,time.Unix(c.Start,0).UTC(),time.Unix(c.End,0).UTC())}}
 }
 t.Log(len(cs),bad)
}
